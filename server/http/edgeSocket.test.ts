import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetworkPace } from "@sitewright/edge/http/networkPace.ts";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { bodyLimit, readJsonBodies } from "./bodies.ts";
import { keepEdgeConnections, listenForEdge } from "./edgeSocket.ts";

test("a connection of the edge stays open after a body was refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "edge-socket-"));
  const server = fastify({ bodyLimit });
  readJsonBodies(server, createNetworkPace());
  keepEdgeConnections(server);

  server.post("/", async () => "read");
  await server.ready();
  const listening = await listenForEdge(server, join(folder, "api.sock"));
  const socket = connect(join(folder, "api.sock"));
  onTestFinished(async () => {
    socket.destroy();
    await listening[Symbol.asyncDispose]();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  let received = "";
  socket.setEncoding("latin1").on("data", (more: string) => {
    received += more;
  });
  const head = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(head(bodyLimit + 1));
  await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 /);
  socket.write(`${" ".repeat(bodyLimit + 1)}${head(0)}`);
  await expect.poll(() => received).toMatch(/HTTP\/1\.1 200 .*read$/s);
});
