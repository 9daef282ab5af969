import { expect, test } from "vitest";
import { headersForPhp, requestVariables } from "./requestVariables.ts";

test("headers that could pass for a setting or another header are left out", () => {
  const headers = { proxy: "http://evil", a_b: "1", "a-b": "2", host: "site.localhost" };
  expect(headersForPhp({ headers })).toEqual({ "a-b": "2", host: "site.localhost" });
});

test("repeated headers are joined, cookies as in one header", () => {
  const headers = { accept: ["a", "b"], cookie: ["x=1", "y=2"] };
  expect(headersForPhp({ headers })).toEqual({ accept: "a, b", cookie: "x=1; y=2" });
});

test("bytes of UTF-8 become text", () => {
  const headers = { "x-name": Buffer.from("Zoë ✓").toString("latin1") };
  expect(headersForPhp({ headers })).toEqual({ "x-name": "Zoë ✓" });
});

test.each([
  ["Site.localhost:8081", true, { SERVER_NAME: "site.localhost", SERVER_PORT: "8081" }],
  ["site.localhost", true, { SERVER_PORT: "443", HTTPS: "on", REQUEST_SCHEME: "https" }],
  ["site.localhost", false, { SERVER_PORT: "80", REQUEST_SCHEME: "http" }],
  ["", false, { SERVER_NAME: "localhost", SERVER_PORT: "80" }],
  ["[::1]:80:90", false, { SERVER_NAME: "[::1]:80", SERVER_PORT: "90" }],
])("the host %j, with TLS %s, is read as %j", (host, https, expected) => {
  const request = { script: "/index.php", pathInfo: "", headers: { host }, remoteAddress: "192.0.2.1", https };
  expect(requestVariables(request)).toMatchObject(expected);
});

test("the script is below the web root, and the path after it is not part of its name", () => {
  const request = { script: "/shop/index.php", pathInfo: "/a/../b", headers: {}, remoteAddress: "::1", https: false };
  expect(requestVariables(request)).toMatchObject({
    SCRIPT_FILENAME: "/site/shop/index.php",
    SCRIPT_NAME: "/shop/index.php",
    PATH_INFO: "/a/../b",
    PHP_SELF: "/shop/index.php/a/../b",
  });
});
