import { expect, test } from "vitest";
import { ask } from "./testing/http.ts";
import { startSite } from "./testing/withEdge.ts";

const file = "Contact: mailto:security@example.com\nExpires: 2026-12-27T00:00:00.000Z\n";
const path = "/.well-known/security.txt";
const atUnknown = { host: "host.example" };

test("security.txt is the installation's at names of no site, and a site's at its own name", async () => {
  const { edge } = await startSite({ ".well-known/security.txt": "the site's" }, { edge: { securityTxt: () => file } });
  const got = await ask(edge, path, atUnknown);
  expect([got.status, got.headers["content-type"], got.body]).toEqual([200, "text/plain; charset=utf-8", file]);
  expect((await ask(edge, path)).body).toBe("the site's");
  expect((await ask(edge, "/", atUnknown)).status).toBe(404);
  expect((await ask(edge, path, { ...atUnknown, method: "POST", body: "x" })).status).toBe(404);
});

test("without a contact there is no security.txt", async () => {
  const { edge } = await startSite();
  expect((await ask(edge, path, atUnknown)).status).toBe(404);
});
