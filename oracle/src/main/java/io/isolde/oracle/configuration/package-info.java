// SPDX-License-Identifier: Apache-2.0
/**
 * The configuration manager's core: the nodes of the ring, the replica groups, who leads them, and
 * how that has changed, by version. Pure; {@link io.isolde.oracle.configuration.ConfigurationState}
 * is a part of each replica of the oracle.
 */
package io.isolde.oracle.configuration;
