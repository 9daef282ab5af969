/**
 * `readsBare.ts <file with the body>`: a Fastify server with one route, which serialises an object as the API's endpoints do.
 * Sends its port over IPC when it is ready.
 */
import { readFileSync } from "node:fs";
import { fastify } from "fastify";

const [file = ""] = process.argv.slice(2);
const { body, schema }: { body: unknown; schema: object } = JSON.parse(readFileSync(file, "utf8"));

const server = fastify();
server.get("/v2/bare", { schema: { response: { 200: schema } } }, async () => body);
const address = await server.listen({ host: "127.0.0.1", port: 0 });
process.send?.(Number(new URL(address).port));
