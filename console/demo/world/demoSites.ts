/** The sites that the demo begins with, and new ones. */
import { chanceOf, idOf, newId } from "./ids.ts";
import { packagesOf } from "./packages.ts";
import type { DemoBackup, DemoDomain, DemoEnvironment, DemoMail, DemoSite, EnvironmentSettings } from "./world.ts";

/** Sites get their first addresses below this name. Nobody can have a domain below `.example`. */
export const ownDomain = "sites.example";

export const newestWordPress = "6.9";
export const phpVersions = ["8.2", "8.3", "8.4"] as const;
export const usualPhp = "8.3";

const day = 86_400_000;

const defaultSettings = (): EnvironmentSettings => ({
  threadCount: 2,
  threadMemory: 256,
  requestSeconds: 60,
  diskBytes: 10 * 2 ** 30,
  delivery: "send",
  forceHttps: "ENABLED_FOR_ALL",
  isCached: true,
  isXmlRpcEnabled: false,
  deniedIps: [],
  updateChecks: ["/"],
  pictureThreshold: 5,
  automaticUpdates: {
    plugins: false,
    themes: false,
    vulnerable_within_hours: 24,
    except: [],
    window: { days: ["tuesday", "wednesday"], start: "03:00", hours: 2, time_zone: "Europe/Berlin" },
  },
  staysOnPhp: false,
});

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "site";

export const temporaryDomain = (name: string, id: string): DemoDomain => ({
  id,
  name,
  setup: "temporary",
  isWildcardless: true,
  isVerified: true,
  pointsHere: true,
  certificate: "acme",
});

const ownDomainOf = (name: string, isVerified: boolean): DemoDomain => ({
  id: idOf(`domain ${name}`),
  name,
  setup: "quick",
  isWildcardless: false,
  isVerified,
  pointsHere: isVerified,
  certificate: isVerified ? "acme" : null,
});

interface NewEnvironment {
  readonly site: string;
  readonly name: string;
  readonly displayName: string;
  readonly isPremium?: boolean;
  readonly wordpress?: string | null;
  /** Copied with the environment. */
  readonly source?: DemoEnvironment;
}

/** An environment as it is right after its creation. */
export function newEnvironment(given: NewEnvironment, id = newId()): DemoEnvironment {
  const { site, name, displayName, isPremium = false, wordpress = newestWordPress, source } = given;
  const address = name === "live" ? `${site}.${ownDomain}` : `${name}-${site}.${ownDomain}`;
  const domain = temporaryDomain(address, idOf(`domain ${address} ${id}`));
  return {
    ...{ id, name, displayName, isPremium },
    domains: [domain],
    primaryDomainId: domain.id,
    wordpress: source ? source.wordpress : wordpress,
    php: source?.php ?? usualPhp,
    runtime: "native",
    packages: source ? source.packages.map((one) => ({ ...one })) : wordpress === null ? [] : packagesOf(site, true),
    backups: [],
    mails: [],
    redirects: source ? [...source.redirects] : [],
    downloads: [],
    settings: source ? structuredClone(source.settings) : defaultSettings(),
    diskBytes: source?.diskBytes ?? 84_000_000,
    visitsPerHour: 0,
    pictured: null,
    administrators: ["ada@meadow.example"],
  };
}

/** Nightly ones, and one that somebody made. */
function pastBackups(site: string, now: number, first: number): DemoBackup[] {
  const nights = Array.from({ length: 9 }, (_, index): DemoBackup => {
    const createdAt = Math.floor(now / day - index) * day + 2 * 3_600_000;
    const bytes = 60_000_000 + Math.floor(chanceOf(`${site} ${index}`) * 4e7);
    const proven = Math.floor(chanceOf(`${site} proven`) * 12);
    const provenAt = index === proven ? createdAt + 7_200_000 : null;
    const id = first + 10 - index;
    return {
      id,
      name: "Scheduled backup",
      note: null,
      type: "scheduled",
      createdAt: Math.min(createdAt, now),
      provenAt,
      bytes,
    };
  });
  const createdAt = now - 12 * day;
  return [
    ...nights,
    {
      ...{ id: first, createdAt, bytes: 71_000_000 },
      name: "Manual backup",
      note: "Before the new shop",
      type: "manual",
      provenAt: null,
    },
  ];
}

function pastMails(site: string, domain: string, now: number): DemoMail[] {
  const subjects = ["Your order has arrived", "Somebody has sent the contact form", "Please choose a new password"];
  return subjects.map((subject, index) => ({
    id: idOf(`mail ${site} ${index}`),
    from: `wordpress@${domain}`,
    recipients: [`visitor${index + 1}@post.example`],
    subject,
    text: `Hello,\n\n${subject.toLowerCase()}.\n\n${domain}\n`,
    createdAt: now - (index + 1) * 5_400_000,
    state: index === 1 ? "bounced" : "sent",
    sentAt: index === 1 ? null : now - (index + 1) * 5_400_000 + 2_000,
    lastError: index === 1 ? "550 No such mailbox" : null,
  }));
}

/** Name, own domain if any, versions, labels, further environments, and visits in an hour. */
interface Past {
  readonly name: string;
  readonly domain?: string;
  readonly isUnverified?: true;
  readonly wordpress?: string;
  readonly php?: string;
  readonly labels?: readonly string[];
  readonly others?: readonly string[];
  readonly visits: number;
}

const past: readonly Past[] = [
  { name: "Harbour Café", domain: "harbour-cafe.example", labels: ["Shops"], others: ["Staging"], visits: 120 },
  { name: "Meadow School", domain: "meadow-school.example", labels: ["Schools"], visits: 75, wordpress: "6.8.3" },
  {
    name: "Night Train Journal",
    domain: "night-train.example",
    labels: ["Magazines"],
    others: ["Staging", "Redesign"],
    visits: 940,
  },
  { name: "Birch & Sons", domain: "birch-and-sons.example", labels: ["Shops"], visits: 210, php: "8.2" },
  { name: "Lantern Festival", domain: "lantern-festival.example", isUnverified: true, visits: 12 },
  { name: "Paper Boats", domain: "paper-boats.example", labels: ["Shops"], visits: 330, others: ["Staging"] },
  { name: "Old Mill Museum", domain: "old-mill.example", visits: 45, wordpress: "6.8.3", php: "8.2" },
  { name: "River Clinic", domain: "river-clinic.example", labels: ["Care"], visits: 160 },
  { name: "Tuesday Choir", visits: 3 },
  { name: "Field Notes", domain: "field-notes.example", labels: ["Magazines"], visits: 88, php: "8.4" },
  { name: "Copper Kettle", domain: "copper-kettle.example", labels: ["Shops"], visits: 54 },
  { name: "Garden Club", domain: "garden-club.example", visits: 20, php: "8.4" },
  { name: "Northern Lights Tours", domain: "northern-lights.example", labels: ["Travel"], visits: 410 },
];

export const demoLabels = () =>
  [...new Set(past.flatMap(({ labels = [] }) => labels))].map((name) => ({ id: idOf(`label ${name}`), name }));

/** The first site of all was created 400 days ago. */
export const demoSites = (now: number): DemoSite[] => past.map((facts, index) => demoSite(facts, index, now));

function demoSite(facts: Past, index: number, now: number): DemoSite {
  const { name: displayName, labels = [], others = [], visits } = facts;
  const name = slugOf(displayName);
  const live = liveOf(name, facts, index, now);
  const copies = others.map((other) =>
    newEnvironment({ site: name, name: slugOf(other), displayName: other, source: live }, idOf(`${name} ${other}`)),
  );
  for (const copy of copies) copy.settings.delivery = "keep";
  return {
    ...{ id: idOf(`site ${name}`), name, displayName },
    createdAt: now - (400 - 27 * index) * day,
    labels: new Set(labels.map((label) => idOf(`label ${label}`))),
    environments: [{ ...live, visitsPerHour: visits }, ...copies],
    isReady: true,
  };
}

function liveOf(name: string, facts: Past, index: number, now: number): DemoEnvironment {
  const { domain, isUnverified = false, wordpress = newestWordPress, php = usualPhp } = facts;
  const made = newEnvironment({ site: name, name: "live", displayName: "Live" }, idOf(`${name} live`));
  const own = domain === undefined ? [] : [ownDomainOf(domain, !isUnverified)];
  const [primary = made.domains[0]] = own.filter(({ isVerified }) => isVerified);
  return {
    ...made,
    domains: [...made.domains, ...own],
    primaryDomainId: primary?.id ?? made.primaryDomainId,
    ...{ wordpress, php },
    packages: packagesOf(name),
    backups: pastBackups(name, now, 1000 + 20 * index),
    mails: pastMails(name, domain ?? `${name}.${ownDomain}`, now),
    redirects: [redirect("/menu", "/food"), redirect("/shop", "/store"), redirect("/team", "/about")],
    diskBytes: 90_000_000 + Math.floor(chanceOf(`${name} disk`) * 9e8),
  };
}

const redirect = (from: string, to: string) => ({
  ...{ from, to, domain: null },
  type: "permanent" as const,
  traffic_from_country: null,
  traffic_from_country_name: null,
  traffic_from_city: null,
  displayed_location: null,
});
