// SPDX-License-Identifier: Apache-2.0
// picture.mjs URL OUT.png WIDTH HEIGHT [KEY...]: a picture of a page, after some keys.
import { launch } from "./browser.mjs";

const [url, out, width, height, ...keys] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
await page.goto(url);
await page.waitForTimeout(3000);
for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(200);
}
await page.screenshot({ path: out });
await browser.close();
