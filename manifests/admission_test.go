package manifests

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Each policy is bound to deny, or it would do nothing, and those for the account of a program bind no other.
func TestPolicies(t *testing.T) {
	for _, program := range programs {
		bindings := map[string]admissionv1.ValidatingAdmissionPolicyBinding{}
		for _, binding := range decode[admissionv1.ValidatingAdmissionPolicyBinding](t, program, "ValidatingAdmissionPolicyBinding") {
			bindings[binding.Spec.PolicyName] = binding
		}
		account := "request.userInfo.username == 'system:serviceaccount:" + v1alpha1.Namespace + ":vpod-" + program + "'"
		for _, policy := range decode[admissionv1.ValidatingAdmissionPolicy](t, program, "ValidatingAdmissionPolicy") {
			actions := bindings[policy.Name].Spec.ValidationActions
			if !slices.Equal(actions, []admissionv1.ValidationAction{admissionv1.Deny}) || bindings[policy.Name].Spec.MatchResources != nil {
				t.Errorf("%s is bound with %v, want always Deny", policy.Name, actions)
			}
			if *policy.Spec.FailurePolicy != admissionv1.Fail {
				t.Errorf("%s fails open", policy.Name)
			}
			byAccount := slices.ContainsFunc(policy.Spec.MatchConditions, func(c admissionv1.MatchCondition) bool { return c.Expression == account })
			if forAll := policy.Name == "vpod-scheduler-vreplicas"; byAccount == forAll {
				t.Errorf("%s matches %v", policy.Name, policy.Spec.MatchConditions)
			}
			delete(bindings, policy.Name)
		}
		for name := range bindings {
			t.Errorf("%s is bound and does not exist", name)
		}
	}
}
