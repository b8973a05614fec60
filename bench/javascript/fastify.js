import Fastify from 'fastify';
import { plan } from './plan.js';

const app = Fastify();
app.post('/v1/plan', async (request) => plan(request.body, Date.now()));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
