/** The addresses of all pages. What a page shows is in its address: searches, the environment, the tab. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  useLocation,
} from "@tanstack/react-router";
import { type AnalyticsRange, rangeNamed } from "./api/analytics.ts";
import { queryClient } from "./api/queryClient.ts";
import { type SignedIn, sessionQuery } from "./api/session.ts";
import { filterFrom } from "./api/siteOverviews.ts";
import { type ActivityCategory, ActivityPage, isCategory } from "./pages/ActivityPage.tsx";
import { ErrorPage } from "./pages/ErrorPage.tsx";
import { type FleetTab, fleetTabNamed } from "./pages/fleet/fleetTabs.ts";
import { HomePage } from "./pages/HomePage.tsx";
import { SignInPage } from "./pages/SignInPage.tsx";
import { tabNamed } from "./pages/site/siteTabs.ts";
import { UnknownPage } from "./pages/UnknownPage.tsx";
import { Shell } from "./parts/Shell.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: UnknownPage, errorComponent: ErrorPage });

// Loaded when they are opened, so that the first page comes sooner. A route that passes something on to its page loads it in `loader`:
// while a page is rendered, React would wait 300 ms before it shows it.
const AccountPage = lazyRouteComponent(() => import("./pages/AccountPage.tsx"), "AccountPage");
const ApiKeysPage = lazyRouteComponent(() => import("./pages/ApiKeysPage.tsx"), "ApiKeysPage");
const FleetPage = lazyRouteComponent(() => import("./pages/fleet/FleetPage.tsx"), "FleetPage");
const OperationPage = lazyRouteComponent(() => import("./pages/OperationPage.tsx"), "OperationPage");
const InstallationPage = lazyRouteComponent(() => import("./pages/operator/InstallationPage.tsx"), "InstallationPage");
const LabelsPage = lazyRouteComponent(() => import("./pages/sites/LabelsPage.tsx"), "LabelsPage");
const InvitationPage = lazyRouteComponent(() => import("./pages/InvitationPage.tsx"), "InvitationPage");
const DeletedSitesPage = lazyRouteComponent(() => import("./pages/DeletedSitesPage.tsx"), "DeletedSitesPage");
const NewSitePage = lazyRouteComponent(() => import("./pages/NewSitePage.tsx"), "NewSitePage");
const ProviderAnswerPage = lazyRouteComponent(() => import("./pages/ProviderAnswerPage.tsx"), "ProviderAnswerPage");
const PasswordPage = lazyRouteComponent(() => import("./pages/PasswordPage.tsx"), "PasswordPage");
const PeoplePage = lazyRouteComponent(() => import("./pages/people/PeoplePage.tsx"), "PeoplePage");
const SitesPage = lazyRouteComponent(() => import("./pages/sites/SitesPage.tsx"), "SitesPage");
const UsagePage = lazyRouteComponent(() => import("./pages/UsagePage.tsx"), "UsagePage");
const SitePage = lazyRouteComponent(() => import("./pages/site/SitePage.tsx"), "SitePage");
const DnsPage = lazyRouteComponent(() => import("./pages/dns/DnsPage.tsx"), "DnsPage");
const ForgottenPasswordPage = lazyRouteComponent(
  () => import("./pages/ForgottenPasswordPage.tsx"),
  "ForgottenPasswordPage",
);
const PasswordResetPage = lazyRouteComponent(() => import("./pages/PasswordResetPage.tsx"), "PasswordResetPage");
const RolloutPage = lazyRouteComponent(() => import("./pages/fleet/RolloutPage.tsx"), "RolloutPage");
const SecondFactorPage = lazyRouteComponent(() => import("./pages/SecondFactorPage.tsx"), "SecondFactorPage");

const ZonePage = lazyRouteComponent(() => import("./pages/dns/ZonePage.tsx"), "ZonePage");

/** Only addresses of the console itself: others could be those of a forged page. */
const pathIn = (value: unknown): string =>
  typeof value === "string" && value.startsWith("/") && !/^\/[/\\]/.test(value) ? value : "/";

const withNext = (search: Record<string, unknown>): { next?: string } =>
  search.next === undefined ? {} : { next: pathIn(search.next) };

const session = (): Promise<SignedIn | null> => queryClient.ensureQueryData(sessionQuery);

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: withNext,
  beforeLoad: async ({ search }) => {
    if ((await session()) !== null) throw redirect({ to: search.next ?? "/" });
  },
  component: function SignIn() {
    return <SignInPage next={signIn.useSearch().next ?? "/"} />;
  },
});

const providerSignIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in/provider",
  component: ProviderAnswerPage,
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  loader: () => InvitationPage.preload?.(),
  component: function Invitation() {
    return <InvitationPage token={useLocation({ select: ({ hash }) => hash })} />;
  },
});

const forgottenPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgotten-password",
  component: ForgottenPasswordPage,
});

const passwordReset = createRoute({
  getParentRoute: () => root,
  path: "/password-reset",
  loader: () => PasswordResetPage.preload?.(),
  component: function PasswordReset() {
    return <PasswordResetPage token={useLocation({ select: ({ hash }) => hash })} />;
  },
});

/** Without a session, people sign in first and come back. */
async function requireSession(href: string): Promise<SignedIn> {
  const found = await session();
  if (found === null) throw redirect({ to: "/sign-in", search: href === "/" ? {} : { next: href } });
  return found;
}

const password = createRoute({
  getParentRoute: () => root,
  path: "/password",
  validateSearch: withNext,
  beforeLoad: ({ location }) => requireSession(location.href),
  loader: () => PasswordPage.preload?.(),
  component: function Password() {
    return <PasswordPage next={password.useSearch().next ?? "/"} />;
  },
});

const secondFactor = createRoute({
  getParentRoute: () => root,
  path: "/second-factor",
  validateSearch: withNext,
  beforeLoad: async ({ location }) => {
    const { must_add_second_factor: mustAdd } = await requireSession(location.href);
    if (!mustAdd) throw redirect({ to: "/account" });
  },
  loader: () => SecondFactorPage.preload?.(),
  component: function SecondFactor() {
    return <SecondFactorPage next={secondFactor.useSearch().next ?? "/"} />;
  },
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ location }) => {
    const { must_change_password: mustChange, must_add_second_factor: mustAdd } = await requireSession(location.href);
    if (mustChange) throw redirect({ to: "/password", search: { next: location.href } });
    if (mustAdd) throw redirect({ to: "/second-factor", search: { next: location.href } });
  },
  component: Shell,
});

const home = createRoute({ getParentRoute: () => signedIn, path: "/", component: HomePage });
const account = createRoute({ getParentRoute: () => signedIn, path: "/account", component: AccountPage });
const apiKeys = createRoute({ getParentRoute: () => signedIn, path: "/api-keys", component: ApiKeysPage });
const people = createRoute({ getParentRoute: () => signedIn, path: "/people", component: PeoplePage });
const labels = createRoute({ getParentRoute: () => signedIn, path: "/labels", component: LabelsPage });
const installation = createRoute({
  getParentRoute: () => signedIn,
  path: "/installation",
  component: InstallationPage,
});
const newSite = createRoute({ getParentRoute: () => signedIn, path: "/sites/new", component: NewSitePage });

const usage = createRoute({ getParentRoute: () => signedIn, path: "/usage", component: UsagePage });

const deletedSites = createRoute({
  getParentRoute: () => signedIn,
  path: "/deleted-sites",
  component: DeletedSitesPage,
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: "/activity",
  validateSearch: ({ category }: Record<string, unknown>): { category?: ActivityCategory } =>
    isCategory(category) ? { category } : {},
  component: function Activity() {
    return <ActivityPage category={activity.useSearch().category} />;
  },
});

/** A search is in the address only if it is not empty. */
const withSearch = ({ search }: Record<string, unknown>): { search?: string } =>
  search === undefined || search === "" ? {} : { search: String(search) };

const dns = createRoute({
  getParentRoute: () => signedIn,
  path: "/dns",
  validateSearch: withSearch,
  loader: () => DnsPage.preload?.(),
  component: function Dns() {
    return <DnsPage search={dns.useSearch().search ?? ""} />;
  },
});

const zone = createRoute({
  getParentRoute: () => signedIn,
  path: "/dns/$domainId",
  loader: () => ZonePage.preload?.(),
  component: function Zone() {
    return <ZonePage domainId={zone.useParams().domainId} />;
  },
});

const fleet = createRoute({
  getParentRoute: () => signedIn,
  path: "/fleet",
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: FleetTab } =>
    tab === undefined ? {} : { tab: fleetTabNamed(tab) },
  loader: () => FleetPage.preload?.(),
  component: function Fleet() {
    return <FleetPage tab={fleetTabNamed(fleet.useSearch().tab)} />;
  },
});

const rollout = createRoute({
  getParentRoute: () => signedIn,
  path: "/rollouts/$rolloutId",
  loader: () => RolloutPage.preload?.(),
  component: function Rollout() {
    return <RolloutPage rolloutId={rollout.useParams().rolloutId} />;
  },
});

const sites = createRoute({
  getParentRoute: () => signedIn,
  path: "/sites",
  validateSearch: filterFrom,
  loader: () => SitesPage.preload?.(),
  component: function Sites() {
    return <SitesPage filter={sites.useSearch()} />;
  },
});

interface SiteSearch {
  readonly environment?: string;
  readonly tab?: string;
  /** Of analytics. */
  readonly range?: AnalyticsRange;
}

const site = createRoute({
  getParentRoute: () => signedIn,
  path: "/sites/$siteId",
  validateSearch: ({ environment, tab, range }: Record<string, unknown>): SiteSearch => ({
    ...(typeof environment === "string" && { environment }),
    ...(typeof tab === "string" && { tab }),
    ...(range !== undefined && { range: rangeNamed(range) }),
  }),
  loader: () => SitePage.preload?.(),
  component: function Site() {
    const { environment, tab } = site.useSearch();
    return <SitePage siteId={site.useParams().siteId} environment={environment} tab={tabNamed(tab)} />;
  },
});

const operation = createRoute({
  getParentRoute: () => signedIn,
  path: "/operations/$operationId",
  loader: () => OperationPage.preload?.(),
  component: function Operation() {
    return <OperationPage operationId={operation.useParams().operationId} />;
  },
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    providerSignIn,
    password,
    secondFactor,
    invitation,
    forgottenPassword,
    passwordReset,
    signedIn.addChildren([
      home,
      sites,
      labels,
      newSite,
      deletedSites,
      usage,
      site,
      operation,
      dns,
      zone,
      fleet,
      rollout,
      people,
      activity,
      account,
      apiKeys,
      installation,
    ]),
  ]),
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
