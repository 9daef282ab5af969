/** A worker that is killed at awkward moments. */
import { expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { Slot } from "./slots.ts";
import { FpmWorker } from "./worker.ts";

const noPhp = () => Promise.reject(new Error("There is no php-fpm."));

/** Returns a slot that notes its calls and can't connect. */
function noting(calls: string[]): Slot {
  return {
    connect: () => {
      calls.push("connect");
      throw new Error("There is no php-fpm.");
    },
    pid: () => null,
    kill: () => undefined,
    renew: async () => true,
    retire: () => undefined,
    ended: new Promise(() => undefined),
    free: async () => void calls.push("free"),
    messages: { setReceiver: () => undefined, close: () => undefined },
    messageSocketPath: "/nowhere",
    databaseState: () => "",
    readOnly: { release: noPhp, all: noPhp },
  };
}

const reserve = { folder: "/", bytes: 0 };
const { signal: _, ...example } = exampleRequest("http://site.test");
const request = {
  ...example,
  isReadOnly: false,
  diskLeftBytes: null,
  measuredLeftBytes: null,
  task: null,
  maySendMail: false,
};

test("a worker that is killed before it connects gives its slot back once, and doesn't use it any more", async () => {
  const calls: string[] = [];
  const slot = Promise.withResolvers<Slot>();
  const worker = new FpmWorker(slot.promise, 60, reserve);
  const response = worker.handle(request, null, { finished: () => undefined });
  worker.kill("unavailable");
  slot.resolve(noting(calls));
  await worker.exited;
  await expect(response).rejects.toMatchObject({ reason: "unavailable" });
  expect(calls).toEqual(["free"]);
});

test("a worker whose slot can't be had is unavailable, and ends", async () => {
  const worker = new FpmWorker(Promise.reject(new Error("There is no php-fpm.")), 60, reserve);
  const response = worker.handle(request, null, { finished: () => undefined });
  await expect(response).rejects.toMatchObject({ reason: "unavailable" });
  await worker.exited;
});
