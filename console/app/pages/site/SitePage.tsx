import { Alert, Loader, SegmentedControl, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import { type Environment, siteQuery } from "../../api/sites.ts";
import { Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { BackupsTab } from "./BackupsTab.tsx";
import { DomainsTab } from "./DomainsTab.tsx";
import { EnvironmentsTab } from "./EnvironmentsTab.tsx";
import { LogsTab } from "./LogsTab.tsx";
import { MailTab } from "./MailTab.tsx";
import { OverviewTab } from "./OverviewTab.tsx";
import { RedirectsTab } from "./RedirectsTab.tsx";
import { SettingsTab } from "./settings/SettingsTab.tsx";
import { type SiteTab, siteTabs, tabNamed } from "./siteTabs.ts";
import { ToolsTab } from "./ToolsTab.tsx";
import type { TabProps } from "./tabProps.ts";
import { UpdatesTab } from "./UpdatesTab.tsx";

// With the charts, which are larger than everything else.
const AnalyticsTab = lazy(async () => ({ default: (await import("./analytics/AnalyticsTab.tsx")).AnalyticsTab }));

const panels: Readonly<Record<SiteTab, ComponentType<TabProps>>> = {
  overview: OverviewTab,
  analytics: AnalyticsTab,
  updates: UpdatesTab,
  backups: BackupsTab,
  domains: DomainsTab,
  environments: EnvironmentsTab,
  redirects: RedirectsTab,
  tools: ToolsTab,
  mail: MailTab,
  settings: SettingsTab,
  logs: LogsTab,
};

interface SitePageProps {
  readonly siteId: string;
  /** Id of the environment. Absent: the live one. */
  readonly environment: string | undefined;
  readonly tab: SiteTab;
}

/** One site: a switch between its environments, which keeps the tab, and a tab for each of its parts. */
export function SitePage({ siteId, environment, tab }: SitePageProps) {
  const site = useQuery(siteQuery(siteId));
  const navigate = useNavigate();
  const show = (next: { environment: string; tab: SiteTab }) =>
    navigate({ to: "/sites/$siteId", params: { siteId }, search: (now) => ({ ...now, ...next }), replace: true });
  const environments = site.data?.environments ?? [];
  const shown = environments.find(({ id }) => id === environment) ?? liveOf(environments);
  return (
    <Page title={site.data?.display_name ?? texts.sites.title}>
      <Loaded query={site}>
        {(loaded) =>
          shown !== undefined && (
            <>
              <SegmentedControl
                style={{ alignSelf: "start" }}
                aria-label={texts.site.environments}
                value={shown.id}
                data={loaded.environments.map(({ id, display_name }) => ({ value: id, label: display_name }))}
                onChange={(id) => void show({ environment: id, tab })}
              />
              {shown.is_blocked && <Alert color="yellow">{texts.site.blockedNow}</Alert>}
              <Tabs
                value={tab}
                onChange={(value) => void show({ environment: shown.id, tab: tabNamed(value) })}
                keepMounted={false}
              >
                <Tabs.List aria-label={texts.site.tabs.label}>
                  {siteTabs.map((name) => (
                    <Tabs.Tab key={name} value={name}>
                      {texts.site.tabs[name]}
                    </Tabs.Tab>
                  ))}
                </Tabs.List>
                {siteTabs.map((name) => {
                  const Panel = panels[name];
                  return (
                    <Tabs.Panel key={name} value={name} pt="lg">
                      <Suspense fallback={<Loader size="sm" role="status" aria-label={texts.loading} />}>
                        <Panel
                          siteId={siteId}
                          siteName={loaded.display_name}
                          region={loaded.region}
                          environment={shown}
                          environments={loaded.environments}
                        />
                      </Suspense>
                    </Tabs.Panel>
                  );
                })}
              </Tabs>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const liveOf = (environments: readonly Environment[]) =>
  environments.find(({ name }) => name === "live") ?? environments[0];
