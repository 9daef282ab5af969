/**
 * Duration of changes to a site while visitors request its front page: a new environment, a clone, a push and another
 * PHP version. Counts the visitors' errors and measures their longest wait.
 */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite, followOperation } from "@sitewright/e2e/sites.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median, timed } from "./statistics.ts";
import { stepMilliseconds } from "./steps.ts";

export const megabyte = 1_000_000;
const rounds = 5;
const visitors = 2;

interface Outcome {
  readonly operationId: string;
  /** The environment in the operation's result, or an empty string. */
  readonly environmentId: string;
}

/** Starts an operation and waits until it has ended. Throws if it fails. */
export async function carryOut(
  installation: Installation,
  method: string,
  path: string,
  body: object,
): Promise<Outcome> {
  const answer = await installation.api(method, path, body);
  if (answer.status !== 202) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  const operationId = answer.json<{ operation_id: string }>().operation_id;
  const ended = await followOperation(installation, operationId);
  if (ended.status !== 200) throw new Error(`${method} ${path} failed: ${JSON.stringify(ended)}`);
  return { operationId, environmentId: ended.data?.idEnv ?? "" };
}

/** Writes incompressible files to the environment's uploads. */
async function fill(installation: Installation, environmentId: string, bytes: number): Promise<void> {
  const folder = join(installation.data, "environments", environmentId, "current/public/wp-content/uploads/bench");
  await mkdir(folder, { recursive: true });
  for (let count = 0; count < bytes / megabyte; count += 1) {
    await writeFile(join(folder, `${count}.bin`), randomBytes(megabyte));
  }
}

export interface Visits {
  readonly count: number;
  readonly errors: number;
  readonly longestMilliseconds: number;
}

interface WithVisits<T> {
  readonly milliseconds: number;
  readonly value: T;
  readonly visits: Visits;
}

/** Runs `work` while visitors request the front page without a pause, each with a different query string. */
export async function withVisitors<T>(
  installation: Installation,
  address: string,
  work: () => Promise<T>,
): Promise<WithVisits<T>> {
  let isOver = false;
  const waits: number[] = [];
  let errors = 0;
  const visit = async (_: unknown, visitor: number) => {
    while (!isOver) {
      const { milliseconds, value } = await timed(() => installation.visit(`${address}/?visitor=${visitor}`));
      waits.push(milliseconds);
      if (value.status !== 200 || !value.text.includes("</html>")) errors += 1;
    }
  };
  const visiting = Promise.all(Array.from({ length: visitors }).map(visit));
  const { milliseconds, value } = await timed(work);
  isOver = true;
  await visiting;
  return { milliseconds, value, visits: { count: waits.length, errors, longestMilliseconds: Math.max(...waits) } };
}

export function noErrors(name: string, { count, errors, longestMilliseconds }: Visits): Figure {
  return {
    name: `${name}: visitors' errors`,
    measured: `${errors} of ${count}`,
    target: "0",
    isMet: errors === 0,
    reference: `longest wait for a page: ${duration(longestMilliseconds)}`,
  };
}

async function measureCreation(installation: Installation, site: CreatedSite, ready: () => Promise<void>) {
  const sites: number[] = [];
  const environments: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await ready();
    sites.push((await timed(() => createSite(installation, { display_name: `Reference ${round}` }))).milliseconds);
    await ready();
    const body = {
      display_name: `Extra ${round}`,
      is_premium: false,
      site_title: "Extra",
      wp_language: "en_US",
      admin_email: "owner@example.com",
      admin_password: "correct horse battery",
      admin_user: "owner",
    };
    const path = `/sites/${site.id}/environments`;
    environments.push((await timed(() => carryOut(installation, "POST", path, body))).milliseconds);
  }
  const reference = median(sites);
  return atMost(
    `environment created, median of ${rounds}`,
    median(environments),
    reference * 1.2,
    `site created: ${duration(reference)}`,
  );
}

interface CopyRound {
  readonly clone: WithVisits<Outcome>;
  readonly push: WithVisits<Outcome>;
  readonly switching: number;
}

/** Clones the site, pushes the clone back, and deletes it. */
async function copyAndPush(installation: Installation, site: CreatedSite, name: string): Promise<CopyRound> {
  const clone = await withVisitors(installation, site.address, () => {
    const body = { display_name: name, is_premium: false, source_env_id: site.environmentId };
    return carryOut(installation, "POST", `/sites/${site.id}/environments/clone`, body);
  });
  const copy = clone.value.environmentId;
  const push = await withVisitors(installation, site.address, () =>
    carryOut(installation, "PUT", `/sites/${site.id}/environments`, {
      source_env_id: copy,
      target_env_id: site.environmentId,
    }),
  );
  const switching = await stepMilliseconds(installation.data, push.value.operationId, "switch");
  await carryOut(installation, "DELETE", `/sites/environments/${copy}`, {});
  return { clone, push, switching };
}

export function all(visits: readonly Visits[]): Visits {
  return {
    count: visits.reduce((sum, { count }) => sum + count, 0),
    errors: visits.reduce((sum, { errors }) => sum + errors, 0),
    longestMilliseconds: Math.max(...visits.map(({ longestMilliseconds }) => longestMilliseconds)),
  };
}

interface Size {
  readonly label: string;
  readonly targetMilliseconds: number;
  readonly times: number;
}

/** Clone and push of a site with files of the given total size. */
async function measureCopies(
  installation: Installation,
  site: CreatedSite,
  ready: () => Promise<void>,
  { label, targetMilliseconds, times }: Size,
): Promise<Figure[]> {
  const results: CopyRound[] = [];
  for (let round = 1; round <= times; round += 1) {
    await ready();
    results.push(await copyAndPush(installation, site, `Copy ${round} of ${label}`));
  }
  const medianOf = (figure: (round: CopyRound) => number) => median(results.map(figure));
  const what = times === 1 ? label : `${label}, median of ${times}`;
  return [
    atMost(
      `clone of ${what}, with visitors`,
      medianOf(({ clone }) => clone.milliseconds),
      targetMilliseconds,
    ),
    noErrors(`clone of ${label}`, all(results.map(({ clone }) => clone.visits))),
    atMost(
      `push of ${what}, with visitors`,
      medianOf(({ push }) => push.milliseconds),
      targetMilliseconds,
    ),
    atMost(
      `push of ${what}: the switch itself`,
      medianOf(({ switching }) => switching),
      50,
    ),
    noErrors(`push of ${label}`, all(results.map(({ push }) => push.visits))),
  ];
}

/** Uses a separate site, so that the other measurements keep the default version. */
async function measurePhp(installation: Installation): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Versions", site_title: "Versions" });
  const modify = (version: string) =>
    withVisitors(installation, site.address, () =>
      carryOut(installation, "PUT", "/sites/tools/modify-php-version", {
        environment_id: site.environmentId,
        php_version: version,
      }),
    );
  const first = await modify("8.4");
  await modify("8.3");
  const second = await modify("8.4");
  return [
    atMost(
      "PHP 8.3 → 8.4, with visitors",
      second.milliseconds,
      3_000,
      `the first time: ${duration(first.milliseconds)}`,
    ),
    noErrors("PHP 8.3 → 8.4", first.visits),
  ];
}

/**
 * Runs all measurements on new sites. `ready` waits until prepared workers are warm, `compiled` until every PHP version is
 * compiled.
 */
export async function measureEnvironments(
  installation: Installation,
  ready: () => Promise<void>,
  compiled: () => Promise<void>,
): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Workshop", site_title: "Workshop" });
  const created = await measureCreation(installation, site, ready);
  await compiled();
  await ready();
  const php = await measurePhp(installation);
  await fill(installation, site.environmentId, 100 * megabyte);
  const small = await measureCopies(installation, site, ready, {
    label: "100 MB",
    targetMilliseconds: 3_000,
    times: 3,
  });
  await fill(installation, site.environmentId, 1_000 * megabyte);
  const large = await measureCopies(installation, site, ready, {
    label: "1 GB",
    targetMilliseconds: 30_000,
    times: 1,
  });
  return [created, ...small, ...large, ...php];
}
