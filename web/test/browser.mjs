// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, or what CHROMIUM names, driven by playwright-core.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function chromiumPath() {
    return PLACES.find((path) => path && existsSync(path)) ?? null;
}

export async function launch() {
    const executablePath = chromiumPath();
    if (!executablePath) throw new Error("chromium is not installed");
    // Tests may run as root, where Chromium's own sandbox cannot; the pages are ours.
    return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}
