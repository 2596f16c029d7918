// SPDX-License-Identifier: Apache-2.0
/**
 * What a group with clients needs on top of its log, whatever the log is about: the oracle and
 * strong keyspaces share it.
 */
package io.isolde.raft.group;
