import type { ReadPage } from "@sitewright/contract/lists.ts";
import { describe, expect, it } from "vitest";
import { inPages, type Window } from "./pages.ts";

const letters = [..."abcdefg"];
const everything: Window<string> = { after: null, limit: null, offset: 0 };

/** Pages of three of the letters, and how many letters each page asked for. */
function lettersInPages(window: Window<string>): { readonly read: ReadPage<string>; readonly sizes: number[] } {
  const sizes: number[] = [];
  const read = inPages<string, string>(3, window, async ({ after, limit, offset }) => {
    sizes.push(limit);
    const from = after === null ? 0 : letters.indexOf(after) + 1;
    const items = letters.slice(from + offset, from + offset + limit);
    return { items, last: items.at(-1) ?? null };
  });
  return { read, sizes };
}

async function textsOf(read: ReadPage<string>): Promise<string[]> {
  const { items, next } = await read();
  return [items.join(""), ...(next === null ? [] : await textsOf(next))];
}

describe("a list in pages", () => {
  it.each<[Partial<Window<string>>, string[]]>([
    [{}, ["abc", "def", "g"]],
    [{ after: "d" }, ["efg", ""]],
    [{ after: "f" }, ["g"]],
    [{ after: "g" }, [""]],
    [{ offset: 2 }, ["cde", "fg"]],
    [{ offset: 9 }, [""]],
    [{ limit: 0 }, [""]],
    [{ limit: 2 }, ["ab"]],
    [{ limit: 3 }, ["abc"]],
    [{ limit: 5, offset: 1, after: "a" }, ["cde", "fg"]],
    [{ limit: 100 }, ["abc", "def", "g"]],
  ])("continues after the last row of the previous page: %o", async (window, texts) => {
    expect(await textsOf(lettersInPages({ ...everything, ...window }).read)).toEqual(texts);
  });

  it("reads no more rows than the limit", async () => {
    const { read, sizes } = lettersInPages({ ...everything, limit: 5 });
    await textsOf(read);
    expect(sizes).toEqual([3, 2]);
  });
});
