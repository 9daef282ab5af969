/** What the state of the installation contains that the rules can't find out by themselves. */

/** What is known about the machine and the settings. */
export interface Examination {
  readonly findings: readonly { readonly level: "ok" | "note" | "problem"; readonly text: string }[];
  readonly at: Date;
}

export interface InstallationProbes {
  /** Version of Sitewright. */
  readonly version: string;
  /** Examines the machine and the settings, or returns a recent examination. */
  readonly examine: () => Promise<Examination>;
  /** Whether the DNS server answers. */
  readonly dnsAnswers: () => Promise<boolean>;
}
