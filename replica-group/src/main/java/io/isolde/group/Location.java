// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/**
 * Where a node is, as the cluster's snitch says. Racks of different datacenters are different ones,
 * whatever their names.
 */
public record Location(String datacenter, String rack) {}
