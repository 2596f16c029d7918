// SPDX-License-Identifier: Apache-2.0
/** Which failed tests may run once more: those of nodes that were late, and no wrong answer. */
package io.isolde.system.rerun;
