// SPDX-License-Identifier: Apache-2.0
/** Pictures of what was measured, as SVG. */
package io.isolde.bench.charts;
