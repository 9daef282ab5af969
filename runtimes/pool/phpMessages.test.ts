/** Messages that a site's own code sends. */
import { expect, test } from "vitest";
import type { StalePages } from "../serving.ts";
import { createPhpMessages } from "./phpMessages.ts";
import { mergeStalePages, noStalePages } from "./stalePages.ts";

const touched = (...urls: readonly string[]) => JSON.stringify({ sitewright: "touched", urls, subtrees: [], tags: [] });

function listen() {
  const reported: StalePages[] = [];
  let isPrivate = false;
  const messages = createPhpMessages();
  messages.begin({
    onStalePages: (pages) => void reported.push(pages),
    isPrivate: () => {
      isPrivate = true;
    },
    shows: () => undefined,
  });
  return { messages, reported, isPrivate: () => isPrivate };
}

test("very many messages make everything outdated and the page private, and are then ignored", () => {
  const { messages, reported, isPrivate } = listen();
  for (let count = 0; count < 5_000; count += 1) messages.receive(touched(`/${count}`));
  expect([reported.length, reported.at(-1)?.everything, isPrivate()]).toEqual([2_000, true, true]);
});

test("a request that makes very many pages outdated makes everything outdated", () => {
  const pages = (first: number): StalePages => ({
    ...noStalePages,
    urls: Array.from({ length: 900 }, (_, index) => `/${first + index}`),
  });
  const merged = mergeStalePages(pages(0), pages(1_000));
  expect([merged.everything, merged.urls.length]).toEqual([false, 1_800]);
  expect(mergeStalePages(merged, pages(2_000))).toEqual({ urls: [], subtrees: [], tags: [], everything: true });
});

test.each([
  ['{"sitewright":"ended","failed":false}', [false]],
  ['{"sitewright":"ended","failed":true}', [true]],
  ['{"sitewright":"ended"}', [true]],
  ['{"sitewright":"end"}', []],
])("a script has ended well only if it says so: %s", (message, expected) => {
  const ends: boolean[] = [];
  const ignored = () => undefined;
  const messages = createPhpMessages();
  messages.begin({ onStalePages: ignored, isPrivate: ignored, shows: ignored, ended: (failed) => ends.push(failed) });
  messages.receive(message);
  expect(ends).toEqual(expected);
});

test.each([
  ['{"sitewright":"ended","failed":false,"tags":["#5","post"]}', [["#5", "post"]]],
  ['{"sitewright":"ended","failed":false,"tags":"post"}', [null]],
  ['{"sitewright":"ended","failed":false}', []],
])("the last message may say what the page shows: %s", (message, expected) => {
  const shown: (readonly string[] | null)[] = [];
  const ignored = () => undefined;
  const messages = createPhpMessages();
  messages.begin({ onStalePages: ignored, isPrivate: ignored, shows: (tags) => shown.push(tags) });
  messages.receive(message);
  expect(shown).toEqual(expected);
});
