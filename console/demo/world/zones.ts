/** The DNS zones of the demo's domains. */
import type { DemoSite, DemoZone, RecordSet, World } from "./world.ts";

const day = 86_400_000;

const set = (type: RecordSet["type"], name: string, ...values: readonly string[]): RecordSet => ({
  type,
  name,
  ttl: 3600,
  resource_records: values.map((value) => ({ value })),
});

const firstRecords = (domain: string): RecordSet[] => [
  set("A", domain, "203.0.113.10"),
  set("MX", domain, `10 mail.${domain}.`),
];

export const newZone = (domain: string, now: number): DemoZone => ({
  domain,
  versions: [{ serial: 1, createdAt: now, records: firstRecords(domain) }],
});

/** Each has three versions. */
export function demoZones(sites: readonly DemoSite[], now: number): DemoZone[] {
  const names = sites.flatMap(({ environments: [live] }) =>
    (live?.domains ?? []).filter(({ setup }) => setup !== "temporary").map(({ name }) => name),
  );
  return names.map((domain) => {
    const zone = newZone(domain, now - 60 * day);
    const withWww = [...firstRecords(domain), set("CNAME", `www.${domain}`, `${domain}.`)];
    const withText = [...withWww, set("TXT", domain, '"v=spf1 mx -all"')];
    zone.versions.push({ serial: 2, createdAt: now - 30 * day, records: withWww });
    zone.versions.push({ serial: 3, createdAt: now - 5 * day, records: withText });
    return zone;
  });
}

/** Serves these records from now on. */
export function publish({ clock }: World, { versions }: DemoZone, records: readonly RecordSet[]): void {
  versions.push({ serial: (versions.at(-1)?.serial ?? 0) + 1, createdAt: clock.now(), records });
}

export const recordsOf = ({ versions }: DemoZone): readonly RecordSet[] => versions.at(-1)?.records ?? [];
