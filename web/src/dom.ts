// SPDX-License-Identifier: Apache-2.0
// Making elements. Text only ever goes in as text, never as markup: names in a recording are anybody's.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** Makes an element: `on…` are listeners, `class` and other names attributes; false and undefined are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    put(element, ...children);
    return element;
}

/** Replaces what is in an element. Who is at a button there with the keyboard stays at its successor. */
export function put(element: Element, ...children: Child[]): void {
    const stops = () => [...element.querySelectorAll<HTMLElement>("button, input, select")];
    const at = element.contains(document.activeElement) ? stops().indexOf(document.activeElement as HTMLElement) : -1;
    element.replaceChildren(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
    if (at >= 0) stops()[at]?.focus({ preventScroll: true });
}

export interface Choice<T extends string> {
    value: T;
    label: string;
    title?: string;
}

/** A few buttons of which one is pressed. */
export function segmented<T extends string>(label: string, choices: Choice<T>[], now: T, chosen: (value: T) => void): HTMLElement {
    return h("div", { class: "segmented", role: "group", "aria-label": label }, ...choices.map((c) =>
        h("button", { type: "button", "aria-pressed": String(c.value === now), title: c.title, onclick: () => chosen(c.value) }, c.label)));
}

export function toggle(label: string, on: boolean, title: string, flip: (on: boolean) => void): HTMLElement {
    return h("button", { type: "button", class: "toggle", "aria-pressed": String(on), title, onclick: () => flip(!on) }, label);
}

/** A canvas as large as its box, in device pixels; draws nothing where it has no size. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
    const ratio = window.devicePixelRatio || 1;
    const [w, t] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w || canvas.height !== t) {
        canvas.width = w;
        canvas.height = t;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}
