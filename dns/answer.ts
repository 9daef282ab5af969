/**
 * Answers questions, before encoding: RFC 1034, with negative answers by RFC 2308, wildcards by RFC 4592, and a single
 * record set for ANY by RFC 8482.
 */
import { type Name, parentOf, root, wildcardBelow } from "./names.ts";
import { codes, typeOfCode } from "./records/recordTypes.ts";
import { nameAt } from "./records/wire.ts";
import { findSet, type Node, type RecordSet, type Zone } from "./zone.ts";
import type { Zones } from "./zones.ts";

export const rcodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const;

export interface Entry {
  readonly owner: Name;
  readonly set: RecordSet;
}

export interface Answer {
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly answers: readonly Entry[];
  readonly authority: readonly Entry[];
  readonly additional: readonly Entry[];
  /** Whether the answer is useless without all of `additional`. */
  readonly needsAdditional: boolean;
  /** The existing name that the answer comes from. Many questions of a client may have the same source. */
  readonly source: Name;
}

/** Longer chains of aliases are cut off. */
const maxAliases = 8;
const none: readonly Entry[] = [];

export function emptyAnswer(rcode: number): Answer {
  return {
    rcode,
    isAuthoritative: false,
    answers: none,
    authority: none,
    additional: none,
    needsAdditional: false,
    source: root,
  };
}

export function answerQuestion(zones: Zones, name: Name, type: number): Answer {
  const answers: Entry[] = [];
  let owner = name;
  for (;;) {
    const zone = zoneFor(zones, owner, type);
    const step = zone === null || zone === "broken" ? null : answerInZone(zone, owner, type);
    if (step === null) {
      if (answers.length === 0) return emptyAnswer(zone === "broken" ? rcodes.SERVFAIL : rcodes.REFUSED);
      return { ...emptyAnswer(rcodes.NOERROR), isAuthoritative: true, answers, source: name };
    }
    if (step.alias === undefined || answers.length >= maxAliases) {
      return answers.length === 0 ? step.answer : withAliases(answers, step.answer);
    }
    answers.push({ owner, set: step.alias });
    const target = nameAt(step.alias.records[0] ?? Buffer.of(0), 0);
    const isLoop = answers.some((entry) => entry.owner === target);
    if (isLoop) return { ...step.answer, answers };
    owner = target;
  }
}

/** The last answer of a chain, with the aliases before it. */
function withAliases(aliases: readonly Entry[], last: Answer): Answer {
  return { ...last, isAuthoritative: true, answers: [...aliases, ...last.answers] };
}

/** The zone that answers. DS questions belong to the parent zone, if this server has it (RFC 4035, 3.1.4.1). */
function zoneFor(zones: Zones, name: Name, type: number): Zone | "broken" | null {
  const zone = zones.find(name);
  if (type !== codes.DS || zone === null || zone === "broken" || zone.apex !== name) return zone;
  return zones.find(parentOf(name)) ?? zone;
}

interface Step {
  readonly answer: Answer;
  /** The CNAME record set, if the name is an alias. */
  readonly alias?: RecordSet;
}

function answerInZone(zone: Zone, name: Name, type: number): Step {
  const delegation = zone.hasDelegations ? findDelegation(zone, name, type) : null;
  if (delegation !== null) return { answer: referral(zone, delegation) };
  const found = findNode(zone, name);
  if (found === null) return { answer: negative(zone, rcodes.NXDOMAIN, zone.apex) };
  const { node, source } = found;
  // For ANY a single record set, so that small queries can't cause large responses.
  const set = type === codes.ANY ? node[0] : findSet(node, type);
  if (set !== undefined) {
    const additional = addressesFor(zone, set);
    const answers = [{ owner: name, set }];
    return { answer: { ...emptyAnswer(rcodes.NOERROR), isAuthoritative: true, answers, additional, source } };
  }
  const answer = negative(zone, rcodes.NOERROR, source);
  const alias = findSet(node, codes.CNAME);
  return alias === undefined ? { answer } : { answer: { ...answer, authority: none }, alias };
}

function negative(zone: Zone, rcode: number, source: Name): Answer {
  const authority = [{ owner: zone.apex, set: zone.negativeSoa }];
  return { ...emptyAnswer(rcode), isAuthoritative: true, authority, source };
}

/** The topmost delegated name on the path from the apex to this name, or null. */
function findDelegation(zone: Zone, name: Name, type: number): Entry | null {
  let delegation: Entry | null = null;
  for (let owner = name; owner !== zone.apex; owner = parentOf(owner)) {
    const set = findSet(zone.nodes.get(owner) ?? [], codes.NS);
    if (set === undefined || (type === codes.DS && owner === name)) continue;
    delegation = { owner, set };
  }
  return delegation;
}

function referral(zone: Zone, delegation: Entry): Answer {
  const additional = addressesFor(zone, delegation.set);
  return {
    ...emptyAnswer(rcodes.NOERROR),
    authority: [delegation],
    additional,
    needsAdditional: true,
    source: delegation.owner,
  };
}

function findNode(zone: Zone, name: Name): { readonly node: Node; readonly source: Name } | null {
  const node = zone.nodes.get(name);
  if (node !== undefined) return { node, source: name };
  let encloser = parentOf(name);
  while (!zone.nodes.has(encloser)) encloser = parentOf(encloser);
  const source = wildcardBelow(encloser);
  const wildcard = zone.nodes.get(source);
  return wildcard === undefined ? null : { node: wildcard, source };
}

/** Addresses in this zone of the servers that the records name. */
function addressesFor(zone: Zone, set: RecordSet): readonly Entry[] {
  const hostAt = typeOfCode(set.type)?.hostAt;
  if (hostAt === undefined) return none;
  const hosts = new Set(set.records.map((record) => nameAt(record, hostAt)));
  const entries: Entry[] = [];
  for (const owner of hosts) {
    for (const address of zone.nodes.get(owner) ?? []) {
      if (address.type === codes.A || address.type === codes.AAAA) entries.push({ owner, set: address });
    }
  }
  return entries;
}
