import { expect, test, vi } from "vitest";
import { useTestServer } from "./testing/server.ts";

const limited = useTestServer({ limits: { rateLimitPerMinute: 5 } });

test("a change beyond the rate limit does not ask the database", async () => {
  const { server, company, identities } = limited.current;
  const identify = vi.spyOn(identities, "identify");
  const change = () =>
    server.inject({
      method: "DELETE",
      url: "/v2/sites/3f0cf4ee-2b44-4a0e-9d0e-0ad5f6f1b7c1",
      headers: { authorization: `Bearer ${company.api_key}` },
    });
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429) statuses.push((await change()).statusCode);
  expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
  const asked = identify.mock.calls.length;
  expect((await change()).statusCode).toBe(429);
  expect([asked, identify.mock.calls.length]).toEqual([5, 5]);
});
