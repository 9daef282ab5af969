/** Texts about signing in through a provider. */
export const providerTexts = {
  provider: {
    signIn: (name: string) => `Sign in with ${name}`,
    answerTitle: "Signing in",
    checking: "Checking the answer …",
    account: (email: string) => `You have signed in at the provider as ${email}.`,
    again: "Back to signing in",
    linkPassword: "Your password here",
    linkSubmit: "Link and sign in",
    invitation: "Invitation",
    invitedTo: (company: string, role: string) => `${company} (${role})`,
    acceptPassword: "Choose a password of at least 12 characters",
    acceptHint: "With it you sign in if the provider does not answer, and confirm changes to your sign-in.",
    title: "Accounts for signing in",
    explain: (name: string) => `With an account at ${name}, you can sign in without your password here.`,
    linkTitle: "Link an account",
    link: (name: string) => `Link your account at ${name}`,
    linkThis: (email: string) =>
      `Sign in here with ${email} from now on. A second factor is still needed, if you have one.`,
    linkConfirm: "Link the account",
    toAccount: "Back to your account",
    facts: (linked: string, used: string | null) =>
      used === null ? `linked ${linked}, not used yet` : `linked ${linked}, last used ${used}`,
    unlink: "Unlink",
    unlinkNamed: (provider: string) => `Unlink ${provider}`,
    unlinkHint: "It will no longer sign you in. Your password still does.",
  },
} as const;
