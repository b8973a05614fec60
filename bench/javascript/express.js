import express from 'express';
import { plan } from './plan.js';

const app = express();
app.use(express.json());
app.post('/v1/plan', (request, response) => {
  response.json(plan(request.body, Date.now()));
});
app.listen(Number(process.env.PORT), '127.0.0.1');
