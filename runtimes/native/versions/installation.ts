/** A PHP that environments can run on, and where it was found. */

/** A folder with a system, in which PHP may be installed. */
export interface PhpRoot {
  /** Absolute path; `/` is the machine's own system. */
  readonly folder: string;
  /** Where that is, in words that follow "PHP 8.3": `on this machine`. */
  readonly place: string;
}

export interface PhpInstallation {
  /** Such as `8.2`. */
  readonly version: string;
  /** Such as `8.2.36`. */
  readonly fullVersion: string;
  /** The folder of its system, for the sandbox. */
  readonly root: string;
  /** Where that is, in words. */
  readonly place: string;
  /** Path of php-fpm in the sandbox. */
  readonly fpm: string;
  /** Path of the command-line program of the same version in the sandbox: WP-CLI and PHP's mail need it. */
  readonly php: string;
  /** In lower case, sorted: `gd`, `pdo_sqlite`, `opcache`. */
  readonly extensions: readonly string[];
}

/** What was found. */
export interface DiscoveredPhp {
  /** One for each version, the oldest first. */
  readonly offered: readonly PhpInstallation[];
  /** One sentence for each PHP that is not offered: why, and what to do about it. */
  readonly refused: readonly string[];
}

/** A folder or a release can't be used for PHP. The message is for the operator. */
export class UnusableRoot extends Error {
  override readonly name = "UnusableRoot";
}
