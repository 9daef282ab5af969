/** Changes that the edge must know increase its generation in the same transaction, so that none can be missed. */
import { beforeAll, expect, test as it } from "vitest";
import { makeCertificate } from "../../certificates/testing/openssl.ts";
import { edgeGenerations } from "../../store/generations.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

let environmentId: string;
let domainId: string;
let name: string;
beforeAll(async () => {
  const { addSiteWithEnvironment, database } = test.current;
  ({ id: environmentId } = await addSiteWithEnvironment());
  domainId = await addOwnDomain(database, environmentId);
  name = `d-${domainId}.example`;
});

/** Makes the call. Returns by how much it increased the edge's generation. */
async function generationsAfter(
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body: object,
  status = 200,
): Promise<number> {
  const { call, database } = test.current;
  const before = await edgeGenerations.last(database);
  expect((await call(method, `/v2${path}`, { body })).status).toBe(status);
  return (await edgeGenerations.last(database)) - before;
}

const rule = { domain: null, from: "/old", to: "/new", type: "permanent" };

it("blocking addresses increases the generation", async () => {
  const body = { environment_id: environmentId, ip_list: ["203.0.113.7"] };
  expect(await generationsAfter("PUT", "/sites/tools/denied-ips", body)).toBe(1);
});

it("redirect rules increase the generation, unless they are refused", async () => {
  const path = `/sites/environments/${environmentId}/redirect-rules`;
  expect(await generationsAfter("POST", path, { action_type: "NEW", new_value: rule })).toBe(1);
  expect(await generationsAfter("POST", path, { action_type: "NEW", new_value: rule }, 400)).toBe(0);
});

it("uploading and deleting a certificate increases the generation", async () => {
  const { key, cert } = await makeCertificate({ names: [name] });
  const path = `/sites/environments/domains/${domainId}/certificate`;
  expect(await generationsAfter("PUT", path, { custom_ssl_key: key, custom_ssl_cert: cert })).toBe(1);
  expect(await generationsAfter("DELETE", path, {})).toBe(1);
});

it("the HTTPS redirect increases the generation", async () => {
  const path = `/sites/environments/${environmentId}/force-https-status`;
  expect(await generationsAfter("POST", path, { type: "DISABLED" })).toBe(1);
});
