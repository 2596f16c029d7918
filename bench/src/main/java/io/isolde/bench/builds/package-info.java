// SPDX-License-Identifier: Apache-2.0

/** Builds of the plugin beside one another, to tell what a change costs or gains. */
package io.isolde.bench.builds;
