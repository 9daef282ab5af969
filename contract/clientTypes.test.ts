import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientTypes, clientTypesFile } from "./clientTypes.ts";

test("the console's types are up to date with `npm run gen`", async () => {
  expect(readFileSync(clientTypesFile, "utf8")).toBe(await clientTypes());
});
