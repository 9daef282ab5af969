import { expect, test } from "vitest";
import { answerTimeBuckets, createAnswerTimes } from "./answerTimes.ts";

test("counts responses by class of status, each in the first bucket whose limit it meets", () => {
  const times = createAnswerTimes();
  for (const milliseconds of [1, 5, 6, 70_000]) times.note(200, milliseconds);
  times.note(404, 2_000);
  const empty = answerTimeBuckets.map(() => 0).concat(0);
  expect(times.read()).toEqual([
    { status: "2xx", counts: empty.with(0, 2).with(1, 1).with(-1, 1), sumSeconds: expect.closeTo(70.012) },
    { status: "4xx", counts: empty.with(answerTimeBuckets.indexOf(2.5), 1), sumSeconds: 2 },
  ]);
});
