// SPDX-License-Identifier: Apache-2.0
/**
 * What this node reports to the configuration manager, which is a part of the oracle: itself, the
 * replica groups that it leads, and what is gone.
 */
package io.isolde.configuration;
