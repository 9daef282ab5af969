/** A request that a worker runs. */
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import { Exchange } from "./exchange.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function begin() {
  const { signal: _, ...request } = exampleRequest("http://site.test");
  const ended: string[] = [];
  const exchange = new Exchange({
    request: {
      ...request,
      isReadOnly: false,
      diskLeftBytes: null,
      measuredLeftBytes: null,
      task: null,
      maySendMail: false,
    },
    callbacks: { finished: () => ended.push("finished"), timedOut: () => ended.push("timed out") },
    deadlineMilliseconds: 1_000,
    onDeadline: () => ended.push("deadline"),
  });
  return { exchange, ended };
}

test("its deadline ends PHP", () => {
  const { ended } = begin();
  vi.advanceTimersByTime(1_001);
  expect(ended).toEqual(["timed out", "deadline"]);
});

test("the rest of a response may be read long after PHP has finished", () => {
  const { exchange, ended } = begin();
  exchange.respond({ status: 200, headers: [] }, new PassThrough());
  const end = { failure: null, isLost: false, isCacheable: true, tags: null, errors: "", hasWritten: false };
  exchange.end(end);
  exchange.restartDeadline();
  vi.advanceTimersByTime(10_000);
  expect(ended).toEqual(["finished"]);
});

test("that ends twice is finished once", () => {
  const { exchange, ended } = begin();
  exchange.respond({ status: 200, headers: [] }, new PassThrough());
  const end = { failure: null, isLost: false, isCacheable: true, tags: null, errors: "", hasWritten: false };
  exchange.end(end);
  exchange.end(end);
  expect(ended).toEqual(["finished"]);
});
