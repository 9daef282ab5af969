/**
 * The cost of ten thousand redirect rules for a request that matches none: a file from an edge with the rules, compared
 * with an edge without rules in alternating requests, and the matching alone.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Edge, startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import { createRedirects } from "@sitewright/edge/redirects/redirects.ts";
import { nowhere, type RedirectRule } from "@sitewright/edge/redirects/rule.ts";
import { createFakeUpstream } from "@sitewright/edge/testing/fakeUpstream.ts";
import { putTable } from "@sitewright/edge/testing/http.ts";
import { limits, makeEnvironment, tableOf } from "@sitewright/edge/testing/withEdge.ts";
import type { Figure } from "./report.ts";
import { median, percentile } from "./statistics.ts";

const paths = 9_000;
const expressions = 1_000;
const warmUp = 500;
const requests = 3_000;
const maxMicroseconds = 50;

function makeRules(): readonly RedirectRule[] {
  const common = { domain: null, type: "permanent", country: null, city: null } as const;
  const plain = Array.from({ length: paths }, (_, index) => ({
    ...common,
    from: `/products/old-name-of-a-product-${index}`,
    to: `/shop/${index}`,
  }));
  const matched = Array.from({ length: expressions }, (_, index) => {
    const isOpen = index % 20 === 0;
    const from = isOpen ? `(?i)-archive-${index}/(.*)$` : `^/section-${index}/([a-z]+)/(\\d+)/?$`;
    return { ...common, from, to: isOpen ? "/archive/$1" : `/s${index}/$1-$2` };
  });
  return [...plain, ...matched];
}

/** Three of ten paths resemble the path of a rule. */
const pathAt = (index: number): string =>
  index % 10 < 3 ? `/section-${index % expressions}/about/us` : `/2026/05/an-article-about-something-${index}/`;

function measureSearch(rules: readonly RedirectRule[]): readonly number[] {
  const redirects = createRedirects(rules);
  const times = Array.from({ length: requests + warmUp }, (_, index) => {
    const path = pathAt(index);
    const startedAt = performance.now();
    redirects.find({ scheme: "http", host: "site.localhost", path, query: "", place: () => nowhere });
    return (performance.now() - startedAt) * 1_000;
  });
  return times.slice(warmUp);
}

async function startWith(folder: string, name: string, rules: readonly RedirectRule[] | null): Promise<Edge> {
  const adminSocket = join(folder, `${name}.sock`);
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream: createFakeUpstream(),
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    tableFile: join(folder, `${name}.json`),
    bodyFolder: join(folder, `${name}-bodies`),
    limits,
    logs: createEnvironmentLogs({ folder: join(folder, `${name}-logs`) }),
    log: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (facts) => process.stderr.write(`${String(facts)}\n`),
    },
    ...(rules !== null && { redirects: { read: async () => rules } }),
  });
  const environment = makeEnvironment(folder, rules === null ? {} : { redirectRules: "list" });
  await putTable({ ...edge, adminSocket }, tableOf(1, [environment], { "site.localhost": environment.id }));
  return edge;
}

function ask(port: number, agent: Agent): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/style.css", headers: { host: "site.localhost" }, agent };
    request(options, (response) => {
      response.resume().on("end", () => resolve((performance.now() - startedAt) * 1_000));
    })
      .on("error", reject)
      .end();
  });
}

export async function measureRedirects(): Promise<readonly Figure[]> {
  const rules = makeRules();
  const search = measureSearch(rules);
  const folder = await mkdtemp(join(tmpdir(), "sw-rules-"));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await writeFile(join(folder, "style.css"), "body {}");
  const [without, having] = [await startWith(folder, "none", null), await startWith(folder, "many", rules)];
  try {
    const waits: { readonly none: number[]; readonly many: number[] } = { none: [], many: [] };
    for (let index = 0; index < requests + warmUp; index += 1) {
      const none = await ask(without.port, agent);
      const many = await ask(having.port, agent);
      if (index < warmUp) continue;
      waits.none.push(none);
      waits.many.push(many);
    }
    const added = median(waits.many) - median(waits.none);
    return [
      figure("10,000 redirect rules: matching alone, p50", median(search), `p99 ${format(percentile(search, 0.99))}`),
      figure("10,000 redirect rules: time added to a file, p50", added, `without: ${format(median(waits.none))}`),
    ];
  } finally {
    agent.destroy();
    await Promise.all([without.close(0), having.close(0)]);
    await rm(folder, { recursive: true, force: true });
  }
}

const format = (microseconds: number): string => `${microseconds.toFixed(1)} µs`;

function figure(name: string, microseconds: number, reference: string): Figure {
  const [measured, target] = [format(microseconds), `≤ ${maxMicroseconds} µs`];
  return { name, measured, target, isMet: microseconds <= maxMicroseconds, reference };
}
