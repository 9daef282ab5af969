/** Publishes the table of everything that the edge serves (see `tablePublisher.ts`). */
import { join } from "node:path";
import type { EdgeEnvironment, EdgeHost, EdgeTable } from "@sitewright/edge/tables/table.ts";
import type { EnvironmentRuntime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import type { EdgeClient } from "../clients/edgeClient.ts";
import { writeDurableFile } from "../durableFile.ts";
import type { Sealer } from "../sealing.ts";
import type { Database } from "../store/database.ts";
import { listChallenges } from "../store/domains/acmeChallenges.ts";
import { listCertificates } from "../store/domains/certificates.ts";
import { edgeGenerations } from "../store/generations.ts";
import { listRestoringDomains, listServed, type ServedDomain, type ServedRow } from "../store/traffic/routes.ts";
import { makeCertificateFiles } from "./certificateFiles.ts";
import { makeRedirectFiles } from "./redirectFiles.ts";
import { shownCertificates } from "./shownCertificates.ts";
import { makeTablePublisher, type TablePublisher } from "./tablePublisher.ts";

/** Rejects with `EdgeUnavailable` if the edge did not acknowledge the table. */
export type Publisher = TablePublisher;

interface PublisherOptions {
  readonly database: Database;
  readonly runtime: Pick<EnvironmentRuntime, "layout">;
  readonly edge: EdgeClient;
  /** The table is also written to `edge/table.json` in this folder. */
  readonly dataFolder: string;
  /** Default disk quota of environments. Absent or null: no limit. */
  readonly diskQuotaBytes?: number | null;
  /** Opens the keys of certificates. */
  readonly sealer: Sealer;
  readonly log: Logger;
}

export function tableFile(dataFolder: string): string {
  return join(dataFolder, "edge", "table.json");
}

export function makePublisher(options: PublisherOptions): Publisher {
  const { database, edge, log } = options;
  const certificateFiles = makeCertificateFiles(options);
  const redirectFiles = makeRedirectFiles(options);

  async function send(generation: number): Promise<void> {
    const listed = await listServed(database, options.diskQuotaBytes ?? null);
    const served = await withRuleLists(listed);
    const rows = { served, away: await listRestoringDomains(database) };
    const names = [
      ...served.flatMap(({ id, domains }) => domains.map((each) => ({ ...each, environmentId: id }))),
      ...rows.away,
    ];
    const certificates = await certificateFiles.write(shownCertificates(await listCertificates(database), names));
    const challenges = await listChallenges(database);
    const table = { ...(await makeTable(generation, rows, options)), certificates, challenges };
    await writeDurableFile(tableFile(options.dataFolder), JSON.stringify(table));
    await edge.putTable(table);
    await certificateFiles.removeOthers(certificates);
    await redirectFiles.removeOthers(served.flatMap(({ redirectList }) => redirectList ?? []));
  }

  async function withRuleLists(rows: readonly ServedRow[]): Promise<readonly ServedRow[]> {
    const listed: ServedRow[] = [];
    for (const row of rows) listed.push({ ...row, redirectList: await redirectFiles.write(row.id, row.redirectList) });
    return listed;
  }

  const { status } = edge;
  return makeTablePublisher({ database, generations: edgeGenerations, status, send, server: "The edge", log });
}

async function makeTable(
  generation: number,
  { served: rows, away }: { readonly served: readonly ServedRow[]; readonly away: Away },
  { runtime, log }: Pick<PublisherOptions, "runtime" | "log">,
): Promise<EdgeTable> {
  const environments: EdgeEnvironment[] = [];
  const hosts: EdgeHost[] = [];
  const layouts = await Promise.all(rows.map((row) => runtime.layout(row)));
  for (const [index, row] of rows.entries()) {
    const layout = layouts[index];
    if (!layout) {
      log.error({ environment: row.id }, "An environment is missing on disk and is not published to the edge");
      continue;
    }
    const { domains, forceHttps: _, redirectList, pageCacheEpoch, ...served } = row;
    const primary = domains.find(({ isPrimary }) => isPrimary);
    const more = {
      ...(primary && { primaryHost: primary.name }),
      ...(redirectList && { redirectRules: redirectList }),
      ...(pageCacheEpoch !== null && { pageCache: { epoch: pageCacheEpoch } }),
    };
    environments.push({ ...served, ...layout, ...more });
    hosts.push(...hostsOf(row, primary));
  }
  return { generation, environments, hosts, away: namesOf(away) };
}

/** Visitors are never redirected to a name without a certificate. */
function hostsOf({ id: environmentId, domains, forceHttps }: ServedRow, primary: ServedDomain | undefined): EdgeHost[] {
  const host = (name: string, hasCertificate: boolean): EdgeHost => {
    const canForce = forceHttps === "primary" ? (primary?.isCovered ?? false) : hasCertificate;
    return { name, environmentId, ...(forceHttps !== null && canForce && { forceHttps }) };
  };
  return domains.flatMap(({ name, isWildcard, isCovered, isWildcardCovered }) =>
    isWildcard ? [host(name, isCovered), host(`*.${name}`, isWildcardCovered)] : [host(name, isCovered)],
  );
}

type Away = readonly Pick<ServedDomain, "name" | "isWildcard">[];

function namesOf(domains: Away): string[] {
  return domains.flatMap(({ name, isWildcard }) => (isWildcard ? [name, `*.${name}`] : [name]));
}
