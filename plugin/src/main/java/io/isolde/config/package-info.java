// SPDX-License-Identifier: Apache-2.0
/** The settings of a node, from {@code isolde.yaml}. */
package io.isolde.config;
