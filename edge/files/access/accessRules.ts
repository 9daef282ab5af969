/** Collects the directives of a block: `Order`, `Allow`, `Deny`, `Satisfy` and `Require`, also in `<RequireAll>` and the like. */
import { type Access, type AccessBlock, access, least, most } from "./access.ts";
import type { NamePattern } from "./namePattern.ts";

export type GroupKind = "requireany" | "requireall" | "requirenone";

export interface AccessRules {
  /** Applies an access directive. `name` is in lower case. */
  apply(name: string, words: readonly string[]): void;
  beginGroup(kind: GroupKind): void;
  endGroup(): void;
  /** The block, or null if it has no rules. */
  result(): AccessBlock | null;
}

interface Group {
  readonly kind: GroupKind;
  /** Of its requirements that concern all visitors. */
  readonly results: Access[];
}

const directives = ["order", "allow", "deny", "satisfy", "require"];

export function isAccessDirective(name: string): boolean {
  return directives.includes(name);
}

export function createAccessRules(names: NamePattern | null): AccessRules {
  const groups: Group[] = [{ kind: "requireany", results: [] }];
  const hosts = { isUsed: false, isDenyFirst: true, deniesAll: false, allowsAll: false, allowsSome: false };
  let isEitherEnough: boolean | null = null;

  function applyHosts(name: string, words: readonly string[]): void {
    hosts.isUsed = true;
    const [, ...from] = words.map((word) => word.toLowerCase());
    if (name === "order") hosts.isDenyFirst = /^deny/i.test(words[0] ?? "");
    else if (name === "deny") hosts.deniesAll ||= from.includes("all");
    else if (from.some((host) => host === "all" || host.startsWith("env="))) hosts.allowsAll = true;
    else hosts.allowsSome = true;
  }

  function endGroup(): void {
    const [group, outer] = [groups.at(-1), groups.at(-2)];
    if (group === undefined || outer === undefined) return;
    groups.pop();
    const result = resultOf(group);
    if (result !== null) outer.results.push(result);
  }

  return {
    apply(name, words) {
      if (name === "satisfy") isEitherEnough = words[0]?.toLowerCase() === "any";
      else if (name === "require") {
        const result = requirementOf(words.map((word) => word.toLowerCase()));
        if (result !== null) groups.at(-1)?.results.push(result);
      } else applyHosts(name, words);
    },
    beginGroup: (kind) => {
      groups.push({ kind, results: [] });
    },
    endGroup,
    result() {
      while (groups.length > 1) endGroup();
      const byHosts = hosts.isUsed ? accessByHosts(hosts) : null;
      const byRequirements = groups[0] === undefined ? null : resultOf(groups[0]);
      if (byHosts === null && byRequirements === null && isEitherEnough === null) return null;
      return { names, byHosts, byRequirements, isEitherEnough };
    },
  };
}

/** Requirements of the request. Most are for links from other sites and for robots, and keep nothing private. */
const ofRequest = ["env", "expr", "method", "ssl"];

/** Null if it only excludes some visitors. */
function requirementOf([first, ...rest]: readonly string[]): Access | null {
  if (first === "not") return rest.join(" ") === "all granted" ? access.closed : null;
  if (ofRequest.includes(first ?? "")) return access.open;
  if (first !== "all") return access.conditional;
  return rest[0] === "granted" ? access.open : access.closed;
}

function resultOf({ kind, results }: Group): Access | null {
  if (results.length === 0) return null;
  if (kind === "requirenone") return results.includes(access.open) ? access.closed : null;
  return kind === "requireall" ? least(results) : most(results);
}

interface HostRules {
  readonly isDenyFirst: boolean;
  readonly deniesAll: boolean;
  readonly allowsAll: boolean;
  readonly allowsSome: boolean;
}

/** The later of the two lists wins, and is also the default. */
function accessByHosts({ isDenyFirst, deniesAll, allowsAll, allowsSome }: HostRules): Access {
  const some = allowsSome ? access.conditional : access.closed;
  if (isDenyFirst) return allowsAll || !deniesAll ? access.open : some;
  if (deniesAll) return access.closed;
  return allowsAll ? access.open : some;
}
