// SPDX-License-Identifier: Apache-2.0
/** What readable snapshots cost: the experiments of a paper, and taking one. */
package io.isolde.bench.snapshots;
