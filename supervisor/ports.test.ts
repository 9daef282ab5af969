import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findPorts } from "./ports.ts";

const host = "127.0.0.1";
const api = { purpose: "the API", setting: "SITEWRIGHT_CONTROL_PORT" };
const sites = { purpose: "the sites", setting: "SITEWRIGHT_EDGE_PORT" };

async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

test("chosen ports are distinct and outside the ephemeral range", async () => {
  const found = await findPorts(host, [
    { ...api, port: 0 },
    { ...sites, port: 0 },
  ]);
  expect(new Set(found).size).toBe(2);
  for (const port of found) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_000);
  }
});

test("chooses the preferred port if it is free", async () => {
  const [before = 0] = await findPorts(host, [{ ...api, port: 0 }]);
  expect(await findPorts(host, [{ ...api, port: 0, preferred: before }])).toEqual([before]);
  const taken = await takenPort();
  expect(await findPorts(host, [{ ...api, port: 0, preferred: taken }])).not.toEqual([taken]);
});

test("reports every port in use with its setting", async () => {
  const [first, second] = [await takenPort(), await takenPort()];
  await expect(
    findPorts(host, [
      { ...api, port: first },
      { ...sites, port: second },
    ]),
  ).rejects.toThrow(
    `Port ${first} (the API) is in use by another program. Stop that program, or set SITEWRIGHT_CONTROL_PORT to another port.\n` +
      `Port ${second} (the sites) is in use by another program. Stop that program, or set SITEWRIGHT_EDGE_PORT to another port.`,
  );
});

test("refuses the same port for two purposes", async () => {
  const [port = 0] = await findPorts(host, [{ ...api, port: 0 }]);
  const both = [
    { ...api, port },
    { ...sites, port },
  ];
  await expect(findPorts(host, both)).rejects.toThrow(
    `Port ${port} (the sites) is already the port of another setting.`,
  );
  await expect(findPorts(host, both, new Set([port]))).rejects.toThrow("is already the port of another setting.");
});

test("reports an address of another machine once, with its setting", async () => {
  const both = [
    { ...api, port: 0 },
    { ...sites, port: 0 },
  ];
  await expect(findPorts("192.0.2.1", both)).rejects.toThrow(
    /^192\.0\.2\.1 is not an address of this machine\. Set SITEWRIGHT_HOST[^\n]*$/,
  );
});
