import Fastify from 'fastify';
import { plan } from './plan.js';

// With "log" it logs every call, as the planner does.
const app = Fastify({ logger: process.argv[2] === 'log' });
app.post('/v1/plan', async (request) => plan(request.body, Date.now()));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
