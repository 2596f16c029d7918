// SPDX-License-Identifier: Apache-2.0
/** What a running cluster has collected of its delays, made into a model to predict from. */
package io.isolde.study.live;
