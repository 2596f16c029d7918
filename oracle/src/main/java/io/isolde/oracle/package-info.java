// SPDX-License-Identifier: Apache-2.0
/**
 * The status oracle: the one authority for timestamps and conflicts, as a pure and deterministic
 * core.
 */
package io.isolde.oracle;
