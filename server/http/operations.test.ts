import { describe, expect, it } from "vitest";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();

async function list(query: string, key?: string) {
  const { body } = await test.current.call("GET", `/v2/operations?${query}`, key === undefined ? {} : { key });
  return body.company.operations;
}

describe("GET /operations", () => {
  it("lists waiting, running and finished operations, newest first, and filters", async () => {
    const { addSite, addEnvironment, call, fail } = test.current;
    const siteId = await addSite();
    const { id: environmentId } = await addEnvironment(siteId);
    const restart = () =>
      call("POST", "/v2/sites/tools/restart-php", {
        body: { environment_id: environmentId },
        headers: { "when-busy": "queue" },
      });
    const running = (await restart()).body.operation_id;
    const waiting = (await restart()).body.operation_id;
    const facts = { kind: "restartPhp", idSite: siteId, idEnv: environmentId, message: null };
    const { items, total } = await list(`env_id=${environmentId}&limit=2`);
    expect(total).toBe(3);
    expect(items).toMatchObject([
      { operation_id: waiting, state: "waiting", ...facts },
      { operation_id: running, state: "running", ...facts },
    ]);
    expect((await list(`env_id=${environmentId}&state=waiting`)).items).toHaveLength(1);
    expect((await list(`env_id=${environmentId}&kind=restartPhp`)).total).toBe(2);
    expect((await list(`env_id=${environmentId}&kind=restartPhp&kind=addPlainEnvironment`)).total).toBe(3);
    expect((await list(`env_id=${environmentId}&kind=clearCache`)).items).toEqual([]);
    await fail(running, "PHP did not restart.");
    expect((await list(`site_id=${siteId}&state=failed`)).items).toMatchObject([
      { operation_id: running, message: "PHP did not restart.", finished_at: expect.any(String) },
    ]);
    expect((await list(`env_id=${environmentId}&offset=2`)).items).toHaveLength(1);
  });

  it("shows a key only the operations of its company and its sites", async () => {
    const { addSite, addKey, otherCompany } = test.current;
    const [siteId, other] = [await addSite(), await addSite()];
    const { token } = await addKey({ scopes: ["read", `site:${siteId}`] });
    const seen = (await list("limit=100", token)).items.map(({ idSite }: { idSite: string }) => idSite);
    expect(new Set(seen)).toEqual(new Set([siteId]));
    const theirs = await list("limit=100", otherCompany.api_key);
    expect(theirs.items.map(({ idSite }: { idSite: string }) => idSite)).not.toContain(other);
  });
});
