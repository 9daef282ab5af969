/** Limits certificates to the names of their environments, since a custom certificate may contain any other names. */
import { namesAbove } from "../domains/names.ts";
import type { PresentedCertificate } from "../store/domains/certificates.ts";

interface ServedName {
  readonly name: string;
  readonly environmentId: string;
  /** Whether names below it are served, too. */
  readonly isWildcard: boolean;
}

/** Returns the certificates with the names for which the edge may show them. Leaves out those without any. */
export function shownCertificates(
  certificates: readonly PresentedCertificate[],
  served: readonly ServedName[],
): readonly PresentedCertificate[] {
  const byName = new Map(served.map((each) => [each.name, each]));
  const namesOf = Map.groupBy(served, ({ environmentId }) => environmentId);

  /** The environment of the names below `name` that are not domains themselves. */
  const environmentBelow = (name: string) =>
    [name, ...namesAbove(name)].flatMap((each) => byName.get(each) ?? []).find(({ isWildcard }) => isWildcard)
      ?.environmentId;
  const environmentOf = (name: string) => byName.get(name)?.environmentId ?? environmentBelow(name);

  return certificates.flatMap((certificate) => {
    const { environmentId } = certificate;
    const names = certificate.names.flatMap((name) => {
      if (!name.startsWith("*.")) return environmentOf(name) === environmentId ? [name] : [];
      const parent = name.slice(2);
      const own = (namesOf.get(environmentId) ?? []).filter((each) => namesAbove(each.name)[0] === parent);
      return [...own.map((each) => each.name), ...(environmentBelow(parent) === environmentId ? [name] : [])];
    });
    return names.length === 0 ? [] : [{ ...certificate, names: [...new Set(names)] }];
  });
}
