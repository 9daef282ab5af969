/** Finds things of the demo by their ids. All throw `NotFound`. */
import { found } from "./failures.ts";
import type { DemoBackup, DemoDomain, DemoEnvironment, DemoSite, Person, World } from "./world.ts";

export interface Place {
  readonly site: DemoSite;
  readonly environment: DemoEnvironment;
}

/** The sites that the signed-in person may see. */
export function seenSites(world: World): DemoSite[] {
  const { siteIds, labelIds } = signedInPerson(world).access;
  const isSeen = ({ id, labels }: DemoSite) =>
    siteIds === null || siteIds.includes(id) || labelIds?.some((label) => labels.has(label)) === true;
  return world.sites.filter((site) => site.isReady && isSeen(site));
}

export const allPlaces = (world: World): Place[] =>
  seenSites(world).flatMap((site) => site.environments.map((environment) => ({ site, environment })));

export const siteOf = (world: World, id: string): DemoSite => found(seenSites(world).find((site) => site.id === id));

export const placeOf = (world: World, id: string): Place =>
  found(allPlaces(world).find(({ environment }) => environment.id === id));

export const environmentOf = (world: World, id: string): DemoEnvironment => placeOf(world, id).environment;

export const liveOf = (site: DemoSite): DemoEnvironment | undefined =>
  site.environments.find(({ name }) => name === "live");

export const primaryOf = ({ domains, primaryDomainId }: DemoEnvironment): DemoDomain =>
  found(domains.find(({ id }) => id === primaryDomainId));

export const addressOf = (environment: DemoEnvironment): string => `https://${primaryOf(environment).name}`;

export function domainOf(world: World, id: string): Place & { readonly domain: DemoDomain } {
  const all = allPlaces(world).flatMap((place) => place.environment.domains.map((domain) => ({ ...place, domain })));
  return found(all.find(({ domain }) => domain.id === id));
}

export function backupOf(world: World, id: number): Place & { readonly backup: DemoBackup } {
  const all = allPlaces(world).flatMap((place) => place.environment.backups.map((backup) => ({ ...place, backup })));
  return found(all.find(({ backup }) => backup.id === id));
}

export const personOf = ({ people }: World, id: string): Person => found(people.find((person) => person.id === id));

/** Who has signed in. Throws `NotFound` if nobody has. */
export function signedInPerson(world: World): Person {
  const session = found(world.sessions.find(({ id }) => id === world.sessionId));
  return personOf(world, session.personId);
}

interface Paging {
  readonly limit?: number;
  readonly offset?: number;
}

/** A part of a list. */
export const pageOf = <Item>(items: readonly Item[], { limit = 500, offset = 0 }: Paging): Item[] =>
  items.slice(offset, offset + limit);

export const isoOf = (time: number): string => new Date(time).toISOString();
export const isoOrNull = (time: number | null): string | null => (time === null ? null : isoOf(time));
