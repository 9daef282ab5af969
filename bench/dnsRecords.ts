/** Time until the running DNS server serves a new record. */
import { Resolver } from "node:dns/promises";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { readInstallation } from "@sitewright/supervisor/records.ts";
import { carryOut } from "./environments.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const zone = "records.example";
const records = 50;
const maxMilliseconds = 1_000;

interface Domains {
  readonly environment: { readonly site_domains: readonly { readonly id: string; readonly name: string }[] };
}

async function addDomain(installation: Installation): Promise<string> {
  const { environmentId } = await createSite(installation, { display_name: "Records" });
  const path = `/sites/environments/${environmentId}/domains`;
  await carryOut(installation, "POST", path, { domain_name: zone });
  const answer = await installation.api("GET", path);
  const found = answer.json<Domains>().environment.site_domains.find(({ name }) => name === zone);
  if (found === undefined) throw new Error(`The domain was not added: ${answer.text}`);
  return found.id;
}

export async function measureDnsRecords(installation: Installation): Promise<Figure> {
  const id = await addDomain(installation);
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${readInstallation(installation.data)?.dnsPort}`]);
  const times: number[] = [];
  for (let count = 0; count < records; count += 1) {
    const name = `r${count}.${zone}`;
    const value = `203.0.113.${count + 1}`;
    const body = { type: "A", name, ttl: 300, resource_records: [{ value }] };
    const { milliseconds } = await timed(async () => {
      const answer = await installation.api("POST", `/domains/${id}/dns-records`, body);
      if (answer.status !== 202) throw new Error(`The record was not accepted: ${answer.text}`);
      await until(
        async () => {
          if ((await resolver.resolve4(name))[0] !== value) throw new Error(`${name} is not ${value} yet`);
        },
        // A shorter interval would trigger the server's rate limit.
        { deadlineSeconds: 30, intervalMilliseconds: 15 },
      );
    });
    times.push(milliseconds);
  }
  const name = `DNS: record created → served, p99 of ${records}`;
  return atMost(name, percentile(times, 0.99), maxMilliseconds, `p50: ${duration(median(times))}`);
}
