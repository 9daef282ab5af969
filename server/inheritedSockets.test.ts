import { expect, test } from "vitest";
import { announceSockets, descriptorsOf, takeInheritedSockets } from "./inheritedSockets.ts";

const sockets = [
  { name: "http", descriptor: 3 },
  { name: "http", descriptor: 4 },
  { name: "api", descriptor: 5 },
];

test("sockets are known by their names, and announced to one process only", () => {
  const env = { ...announceSockets(sockets), LISTEN_PID: String(process.pid), PATH: "/bin" };
  const taken = takeInheritedSockets(env);
  expect(taken).toEqual(sockets);
  expect(descriptorsOf(taken, "http")).toEqual([3, 4]);
  expect(descriptorsOf(taken, "https")).toBe(undefined);
  expect(env).toEqual({ PATH: "/bin" });
});

test("a process takes no sockets that were meant for its parent", () => {
  const env: NodeJS.ProcessEnv = { ...announceSockets(sockets), LISTEN_PID: String(process.ppid) };
  expect(takeInheritedSockets(env)).toEqual([]);
  expect(env).toEqual({});
});

test("sockets need no names", () => {
  const env: NodeJS.ProcessEnv = { LISTEN_FDS: "2", LISTEN_PID: String(process.pid) };
  expect(takeInheritedSockets(env).map(({ descriptor }) => descriptor)).toEqual([3, 4]);
});
