// SPDX-License-Identifier: Apache-2.0
/**
 * Cassandra nodes as processes of this machine, from the Maven jars: create, start, stop, kill,
 * pause and remove them.
 *
 * <p>{@link io.isolde.cluster.LocalCluster} is a folder with one folder per node; everything needed
 * to find a running node again lies there, so that another process can go on where this one ended.
 * {@link io.isolde.cluster.NodeSpec} says how a node is to be set up. No class of Cassandra is
 * linked.
 */
package io.isolde.cluster;
