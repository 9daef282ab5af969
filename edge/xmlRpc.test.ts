import { expect, test } from "vitest";
import { ask } from "./testing/http.ts";
import { startSite } from "./testing/withEdge.ts";

const files = { "xmlrpc.php": "<?php", "wp-includes/xmlrpc.php": "<?php" };
const call = { method: "POST", body: "<methodCall/>", headers: { "content-type": "text/xml" } };

test("XML-RPC is refused with a reason, for every method and spelling", async () => {
  const { edge, upstream } = await startSite(files);
  for (const path of ["/xmlrpc.php", "//xmlrpc.php?rsd", "/%78mlrpc.php", "/xmlrpc.php/x"]) {
    for (const sending of [{}, call, { ...call, php: edge.loopbackSocket }]) {
      const got = await ask(edge, path, sending);
      expect(got.status).toBe(403);
      expect(got.body).toContain("does not accept XML-RPC requests");
    }
  }
  expect(upstream.asked).toEqual([]);
});

test("programs get told how to turn XML-RPC on", async () => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/xmlrpc.php", { ...call, headers: { ...call.headers, accept: "text/xml" } });
  expect(got.body).toContain("PUT /v2/sites/tools/xml-rpc");
});

test("XML-RPC is refused at a site of a subdirectory network", async () => {
  const { edge } = await startSite(files, { environment: { multisite: "subdirectory" } });
  expect((await ask(edge, "/blog/xmlrpc.php", call)).status).toBe(403);
});

test("XML-RPC is refused at a copy of WordPress in a folder", async () => {
  const { edge, upstream } = await startSite({ ...files, "old/xmlrpc.php": "<?php" });
  expect((await ask(edge, "/old/xmlrpc.php", call)).status).toBe(403);
  expect(upstream.asked).toEqual([]);
});

test("XML-RPC can be turned on for an environment", async () => {
  const { edge } = await startSite(files, { environment: { isXmlRpcOn: true } });
  expect((await ask(edge, "/xmlrpc.php", call)).body).toBe("POST /xmlrpc.php");
});
