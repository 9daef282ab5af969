/** The part of semver that is used. It comes without types. */
declare module "semver" {
  export function satisfies(
    version: string,
    range: string,
    options?: { readonly includePrerelease?: boolean },
  ): boolean;
  export function validRange(range: string): string | null;
}
