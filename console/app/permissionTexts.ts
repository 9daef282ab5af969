/** Why somebody can't do or see something that others in the company can. */
export const permissionTexts = {
  needs: {
    deleteSites: "Only owners and admins can delete sites.",
    changeLimits: "Only owners and admins can change these limits.",
    seeLimits: "Only people who have all sites see the limits of the company.",
    seeRollouts: "Only people who have all sites see rollouts.",
    manageRollouts: "Only owners, admins and developers who have all sites can update everywhere.",
  },
} as const;
