import { Tabs } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { FleetPackages } from "./FleetPackages.tsx";
import { type FleetTab, fleetTabNamed, fleetTabs } from "./fleetTabs.ts";
import { Rollouts } from "./Rollouts.tsx";
import { Vulnerabilities } from "./Vulnerabilities.tsx";

const at = texts.fleet;

const panels: Readonly<Record<FleetTab, ComponentType>> = {
  vulnerabilities: Vulnerabilities,
  plugins: () => <FleetPackages kind="plugins" />,
  themes: () => <FleetPackages kind="themes" />,
  rollouts: Rollouts,
};

/** Plugins and themes of all environments. */
export function FleetPage({ tab }: { readonly tab: FleetTab }) {
  const navigate = useNavigate();
  return (
    <Page title={at.title}>
      <Tabs
        value={tab}
        onChange={(value) => void navigate({ to: "/fleet", search: { tab: fleetTabNamed(value) }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label={at.tabs.label}>
          {fleetTabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {at.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {fleetTabs.map((name) => {
          const Panel = panels[name];
          return (
            <Tabs.Panel key={name} value={name} pt="lg">
              <Panel />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Page>
  );
}
