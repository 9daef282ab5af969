import { expect, test } from "vitest";
import { createLoginEvents } from "./loginEvents.ts";

test("an environment's logins beyond the limit are counted without their details", () => {
  const events = createLoginEvents();
  const event = { environmentId: "one", outcome: "failed", byLink: false, user: "ada" } as const;
  for (let number = 0; number < 300; number += 1) events.note({ ...event, address: `2001:db8::${number}` });
  events.note({ ...event, address: "2001:db8::0" });
  const taken = events.take();
  expect(taken).toHaveLength(201);
  expect(taken[0]).toMatchObject({ address: "2001:db8::0", count: 2 });
  expect(taken.at(-1)).toEqual({ ...event, address: null, user: null, count: 100 });
});
