# The image of the retry planner: one static binary and the certificates of
# public authorities, nothing else. cmd/retry-planner/image_test.go reads this
# file and runs what it says in an empty root.
#
#   docker build -t retry-planner .
#   docker run --rm -p 127.0.0.1:8080:8080 retry-planner

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# .git comes along: "retry-planner version" tells the revision.
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -tags nomsgpack,nethttpomithttp2 -buildvcs=auto -trimpath -ldflags "-s -w" -o /out/retry-planner ./cmd/retry-planner

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/retry-planner /retry-planner
USER 65532:65532
ENV PLANNER_LISTEN=:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=2s --retries=3 CMD ["/retry-planner", "healthcheck"]
ENTRYPOINT ["/retry-planner"]
